import { PHASES, type Phase } from '@onecode/domain';
import { deliveryWait, type DeliveryProgress } from '@onecode/store/reports';

const LIFE_SECONDS = 600;
const at = (seconds: number): Date => new Date(Date.UTC(2026, 2, 1, 12, 0, seconds));

const progress = (phase: Phase, fields: Partial<DeliveryProgress> = {}): DeliveryProgress => ({
  phase,
  verification: 'pending',
  dueAt: phase === 'unconfirmed' || phase === 'done' ? null : at(30),
  expiresAt: at(LIFE_SECONDS),
  ...fields,
});

describe('deliveryWait', () => {
  it.each([
    ['ready', { for: 'worker', until: null }],
    ['waiting', { for: 'sender', until: at(LIFE_SECONDS) }],
    ['calling', { for: 'answer', until: null }],
    ['backing_off', { for: 'next_attempt', until: at(30) }],
    ['giving_up', { for: 'receipt', until: at(30) }],
    ['unconfirmed', { for: 'receipt', until: null }],
    ['done', null],
  ] as const)('returns the wait of the phase `%s`', (phase, wait) => {
    expect(deliveryWait(progress(phase), false)).toEqual(wait);
  });

  it.each(['verified', 'locked', 'expired'] as const)(
    'returns null before a call and after an accepted one if the code is %s',
    (verification) => {
      for (const phase of ['ready', 'waiting', 'backing_off', 'unconfirmed'] as const)
        for (const isHeld of [false, true])
          expect(deliveryWait(progress(phase, { verification }), isHeld)).toBeNull();
    },
  );

  it('returns the wait for the release of a hold only if a call would follow', () => {
    for (const phase of PHASES)
      expect(deliveryWait(progress(phase), true)).toEqual(
        phase === 'ready' || phase === 'waiting' || phase === 'backing_off'
          ? { for: 'release', until: at(LIFE_SECONDS) }
          : deliveryWait(progress(phase), false),
      );
  });
});
