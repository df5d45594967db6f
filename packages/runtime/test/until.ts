const LOOK_AGAIN_MS = 10;

/** Waits until the condition holds. @throws when it does not in time */
export async function until(
  condition: () => boolean | Promise<boolean>,
  deadlineMs: number = 15_000,
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`this never came true: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
