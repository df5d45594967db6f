-- contract: locked sends are asked for by their time now. Release 1.2.0's console goes on without the index, more slowly.
drop index sends_locked;
