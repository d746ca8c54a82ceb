"""Floor 3, what is done to state: read, SQL, plan, repair, convert, verify. Imports ``io`` and ``schemas``."""
