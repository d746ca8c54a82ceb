package org.statelift.harness;

import java.io.Serializable;

/** The whole input of a job, computed by position, so that the job's model can go through it too. */
interface Script extends Serializable {

    int rounds();

    /** How many positions a round has. */
    int size(int round);

    /** The record at a position of a round, or null for none. */
    Event event(int round, int position);
}
