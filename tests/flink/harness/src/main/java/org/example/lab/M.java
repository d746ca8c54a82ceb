package org.example.lab;

/** The value classes of the jobs; their names end up in the serializer snapshots. */
public final class M {

    private M() {}

    public static class FraudScore {
        public double score;
        public long timestamp;

        public FraudScore() {}

        public FraudScore(double score, long timestamp) {
            this.score = score;
            this.timestamp = timestamp;
        }
    }

    public static class UserState {
        public String userId;
        public long lastSeenTimestamp;
        public boolean fixed;
        public String status;

        public UserState() {}

        public UserState(String userId, long lastSeenTimestamp, boolean fixed, String status) {
            this.userId = userId;
            this.lastSeenTimestamp = lastSeenTimestamp;
            this.fixed = fixed;
            this.status = status;
        }
    }

    public static class Rule {
        public String type;
        public String action;
        public double threshold;

        public Rule() {}

        public Rule(String type, String action, double threshold) {
            this.type = type;
            this.action = action;
            this.threshold = threshold;
        }
    }
}
