-- contract: release 1.3.0 looks recipients up by their canonical form, in `sends_to_recipient`.
drop index sends_recipient_window;
