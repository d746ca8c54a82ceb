package org.statelift.harness;

/** One input record: which operator it is for, which key or element, and in which round it comes. */
public class Event {

    public String kind;
    public int index;
    public int round;

    public Event() {}

    public Event(String kind, int index, int round) {
        this.kind = kind;
        this.index = index;
        this.round = round;
    }
}
