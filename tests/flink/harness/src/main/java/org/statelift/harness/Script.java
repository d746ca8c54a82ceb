package org.statelift.harness;

import java.io.Serializable;

/** The whole input of a job, computed by position, so that the job's model can go through it too. */
interface Script extends Serializable {

    int rounds();

    /** How many positions a round has. */
    int size(int round);

    /** The first rounds of this script. */
    default Script until(int rounds) {
        return new Until(this, rounds);
    }

    /** The record at a position of a round, or null for none. */
    Event event(int round, int position);

    record Until(Script whole, int rounds) implements Script {
        @Override
        public int size(int round) {
            return whole.size(round);
        }

        @Override
        public Event event(int round, int position) {
            return whole.event(round, position);
        }
    }
}
