import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';

/** How each state looks; the word is always beside it. */
export const SEVERITIES = {
  good: { color: 'teal', icon: IconCircleCheck },
  odd: { color: 'orange', icon: IconAlertTriangle },
  bad: { color: 'red', icon: IconCircleX },
} as const;
