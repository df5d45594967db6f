-- contract: release 1.1.0 names no index when it stores a report, and finds those of a send by their attempt.
drop index receipts_once;
