/** The fields that differ between two states of one thing, as the audit log keeps them; null when none does. */
export function changedFields<State extends object>(
  before: State,
  after: State,
): { before: Partial<State>; after: Partial<State> } | null {
  const names = (Object.keys(after) as (keyof State)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  if (names.length === 0) return null;
  const pick = (state: State): Partial<State> =>
    Object.fromEntries(names.map((name) => [name, state[name]])) as Partial<State>;
  return { before: pick(before), after: pick(after) };
}
