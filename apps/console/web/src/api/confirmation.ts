type Asker = () => Promise<boolean>;

let asker: Asker | null = null;
/** What several requests that are refused together wait for. */
let asked: Promise<boolean> | null = null;

/** Who asks the person to show that it is them; null takes the one away who did. */
export function setAsker(next: Asker | null): void {
  asker = next;
}

/** Whether the person showed that it is them, once they were asked. */
export function askToConfirm(): Promise<boolean> {
  asked ??= (asker?.() ?? Promise.resolve(false)).finally(() => {
    asked = null;
  });
  return asked;
}
