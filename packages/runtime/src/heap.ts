import { setFlagsFromString } from 'node:v8';

/**
 * Keeps this process small under load. By itself V8 lets the heap grow to four times what is alive: most of such a process is
 * garbage. The young version is left to V8: kept from growing, it would stay as small as V8 makes it when a process has
 * little to do, and be collected every few milliseconds from then on.
 */
export function keepHeapSmall(): void {
  // A full collection comes when the heap has grown by so much since the last one: about two a second of a busy process, 6 ms each.
  setFlagsFromString('--heap-growing-percent=30');
}
