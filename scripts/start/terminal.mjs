const CLEAR_LINE = '\r\u001B[2K';

/**
 * Standard output: lines and, on a terminal, one status line below them. Without a terminal no control character is written.
 */
export class Terminal {
  #stream;
  #isInteractive;
  #status = '';

  /** @param {NodeJS.WriteStream} stream */
  constructor(stream) {
    this.#stream = stream;
    this.#isInteractive = stream.isTTY && process.env['TERM'] !== 'dumb';
    stream.on('error', () => {}); // the terminal went away; SIGHUP comes too
    if (this.#isInteractive) stream.on('resize', () => this.#drawStatus());
  }

  /** Writes a line, above the status line. */
  log = (/** @type {string} */ line) => {
    this.#stream.write(`${this.#status === '' ? '' : CLEAR_LINE}${line}\n`);
    this.#drawStatus();
  };

  /**
   * Replaces the status line; an empty text removes it.
   * @param {string} text
   */
  showStatus(text) {
    if (!this.#isInteractive) return;
    if (this.#status !== '') this.#stream.write(CLEAR_LINE);
    this.#status = text;
    this.#drawStatus();
  }

  /** A line that is wider than the terminal would leave its beginning behind. */
  #drawStatus() {
    if (this.#status === '') return;
    this.#stream.write(`${CLEAR_LINE}${this.#status.slice(0, (this.#stream.columns || 80) - 1)}`);
  }
}

/**
 * The status line: the state of each process, and how often it was restarted.
 * @param {ReadonlyMap<string, import('./supervisor.mjs').State>} states
 * @returns {string} such as "✓ api  ✓ console  ✗ worker restarting (1 restart)"
 */
export function statusLine(states) {
  return [...states]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, { state, restarts }]) => {
      const count = restarts === 0 ? '' : ` (${restarts} ${restarts === 1 ? 'restart' : 'restarts'})`;
      return `${state === 'ready' ? `✓ ${name}` : `✗ ${name} ${state}`}${count}`;
    })
    .join('  ');
}
