-- contract: release 1.1.0 creates sends with create_sends, and takes slots with take_slots_unless_held.
drop function create_send, take_slots;
