import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';

/** Color and icon of each severity, always shown next to its text. */
export const SEVERITIES = {
  ok: { color: 'teal', icon: IconCircleCheck },
  degraded: { color: 'orange', icon: IconAlertTriangle },
  failing: { color: 'red', icon: IconCircleX },
} as const;
