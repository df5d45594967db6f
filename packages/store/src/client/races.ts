import { setTimeout as pause } from 'node:timers/promises';

/** The longest pause after the first lost race, in milliseconds. Each further loss adds as much, up to `PAUSE_MS_MAX`. */
const PAUSE_MS_STEP = 20;
const PAUSE_MS_MAX = 250;

/**
 * Waits for a random time before a change is tried again, because another transaction has changed or locked its row. The pauses of
 * concurrent processes differ, so that one of them wins.
 *
 * @param lostRaces how often the change has lost so far
 */
export const pauseAfterLostRace = (lostRaces: number): Promise<void> =>
  pause(Math.random() * Math.min(PAUSE_MS_MAX, PAUSE_MS_STEP * lostRaces));

/** Milliseconds after which a request that has lost all races fails. */
export const RACES_MS_MAX = 5_000;
