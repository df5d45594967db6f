import { Flex, Group, Text, Timeline } from '@mantine/core';
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconChecks,
  IconCircleCheck,
  IconClock,
  IconClockX,
  IconEye,
  IconFlask,
  IconLock,
  IconMessageReport,
  IconPlus,
  IconRoute,
  IconSend,
  IconUserQuestion,
  IconX,
} from '@tabler/icons-react';
import { createElement, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ExplanationView } from '../../../../src/features/sends/errorExplanation.js';
import type { SendDetailsView } from '../../../../src/features/sends/view.js';
import type { TimelineEvent } from '../../../../src/features/sends/timeline.js';
import { Id } from '../../components/copy.js';
import { Section } from '../../components/page.js';
import { Time } from '../../components/times.js';
import { useErrorText } from '../../hooks/errorText.js';
import { useDurations } from '../../hooks/formats.js';

type Attempt = TimelineEvent & { kind: 'attempt' };
type Receipt = TimelineEvent & { kind: 'receipt' };

const ICONS = {
  created: IconPlus,
  routed: IconRoute,
  under_way: IconClock,
  accepted: IconSend,
  not_accepted: IconX,
  simulated: IconFlask,
  delivered: IconChecks,
  read: IconEye,
  denied: IconMessageReport,
  identity_changed: IconUserQuestion,
  wrong_code: IconX,
  verified: IconCircleCheck,
  locked: IconLock,
  expired: IconClockX,
  failed: IconX,
  returned: IconArrowBackUp,
  reclaimed: IconArrowForwardUp,
};

function iconOf(event: TimelineEvent): keyof typeof ICONS {
  if (event.kind === 'receipt') return event.status;
  if (event.kind !== 'attempt') return event.kind;
  if (event.outcome === null) return 'under_way';
  return event.outcome === 'accepted' ? 'accepted' : 'not_accepted';
}

/**
 * The timeline of a send: past events, oldest first, then the event that it waits for.
 *
 * @param withReasons whether it shows why the send failed
 */
export function SendTimeline({
  send,
  withReasons,
}: {
  send: Pick<SendDetailsView, 'timeline' | 'waiting' | 'requestId' | 'status'>;
  withReasons: boolean;
}) {
  const { t, i18n } = useTranslation('sends');
  const timeOf = (at: string): string =>
    new Date(at).toLocaleTimeString(i18n.language, { timeStyle: 'medium' });
  const events = shortened(send.timeline);
  const isSingle = events.filter(({ kind }) => kind === 'attempt').length === 1;
  const isShownAbove = !withReasons && send.status === 'failed';
  // The code of a failed send cannot be used.
  const waiting = send.waiting.filter(({ kind }) => kind !== 'code' || send.status !== 'failed');
  return (
    <Section title={t('timeline.title')}>
      <Timeline active={events.length - 1} bulletSize={24} lineWidth={2} role="list">
        {events.map((event, n) => (
          <Timeline.Item
            key={getEventKey(event)}
            role="listitem"
            bullet={createElement(ICONS[iconOf(event)], { size: 14 })}
            color={colorOf(event)}
            lineVariant={n === events.length - 1 ? 'dashed' : 'solid'}
            title={<Heading text={<Title event={event} isSingle={isSingle} />} at={event.at} />}
          >
            <Body event={event} isShownAbove={isShownAbove} />
            {event.kind === 'created' && <Request id={send.requestId} />}
          </Timeline.Item>
        ))}
        {waiting.map(({ kind, until }) => (
          <Timeline.Item
            key={kind}
            role="listitem"
            bullet={<IconClock size={14} />}
            lineVariant="dashed"
            title={
              <Text fw={550} c="dimmed">
                {t(`waiting.${kind}`)}{' '}
                {until !== null &&
                  t(kind === 'code' || kind === 'next_attempt' ? 'waiting.at' : 'waiting.until', {
                    time: timeOf(until),
                  })}
              </Text>
            }
          />
        ))}
      </Timeline>
    </Section>
  );
}

/**
 * Returns the timeline without the choice of the sender if there was only one attempt, because its event shows the sender. Also omits the
 * expiry of a failed send's code.
 */
function shortened(timeline: readonly TimelineEvent[]): readonly TimelineEvent[] {
  const isFailed = timeline.some(({ kind }) => kind === 'failed');
  const attempts = timeline.filter(({ kind }) => kind === 'attempt').length;
  return timeline.filter(
    ({ kind }) => !(isFailed && kind === 'expired') && !(attempts === 1 && kind === 'routed'),
  );
}

/** Events of one kind never share a millisecond, except failures with different codes. */
const getEventKey = (event: TimelineEvent): string =>
  `${iconOf(event)} ${event.at} ${'errorCode' in event ? event.errorCode : ''}`;

function colorOf(event: TimelineEvent): string {
  switch (event.kind) {
    case 'attempt':
      return event.outcome === 'accepted' ? 'brand' : event.outcome === null ? 'blue' : 'orange';
    case 'receipt':
      return event.status === 'failed' ? 'red' : 'brand';
    case 'verified':
      return 'green';
    case 'denied':
    case 'failed':
    case 'locked':
      return 'red';
    case 'identity_changed':
    case 'wrong_code':
    case 'expired':
      return 'orange';
    default:
      return 'gray';
  }
}

function Heading({ text, at }: { text: ReactNode; at: string }) {
  return (
    <Flex direction={{ base: 'column', sm: 'row' }} justify="space-between" columnGap="md">
      <Text fw={550} component="span">
        {text}
      </Text>
      <Text size="xs" lh="var(--mantine-line-height-sm)" c="dimmed" component="span" className="tabular">
        <Time at={at} seconds />
      </Text>
    </Flex>
  );
}

function Title({ event, isSingle }: { event: TimelineEvent; isSingle: boolean }) {
  const { t } = useTranslation('sends');
  switch (event.kind) {
    case 'attempt':
      return (
        <>
          {!isSingle && `${t('timeline.attempt', { number: event.number })}: `}
          {event.outcome === null ? t('timeline.underWay') : t(`timeline.outcome.${event.outcome}`)}
        </>
      );
    case 'receipt':
      return t(`timeline.receipt.${event.status}`);
    case 'wrong_code':
      return (
        <>
          {t('timeline.wrong_code')}: {t('timeline.left', { count: event.left })}
        </>
      );
    default:
      return t(`timeline.${event.kind}`);
  }
}

function Body({ event, isShownAbove }: { event: TimelineEvent; isShownAbove: boolean }) {
  const { t } = useTranslation('sends');
  switch (event.kind) {
    case 'created':
      return <Line text={t(`timeline.${CREATED[event.chargedFrom ?? 'none']}`)} />;
    case 'routed':
      return event.sender === null ? null : (
        <Line text={t('timeline.routedFrom', { sender: event.sender })} />
      );
    case 'attempt':
      return <AttemptBody event={event} withExplanation={!isShownAbove} />;
    case 'receipt':
      return (
        <>
          <Reason event={event} withExplanation={!isShownAbove} />
          {event.isSentAgain && <Line text={t('timeline.sentAgain')} />}
        </>
      );
    case 'identity_changed':
      return <Line text={t('timeline.identity_changedText')} />;
    case 'denied':
      return <Line text={t('timeline.deniedText')} />;
    case 'failed':
      return event.reason === null || isShownAbove ? null : (
        <Line text={t(`timeline.failedFor.${event.reason}`)} />
      );
    case 'returned':
      return <Line text={t(`timeline.returnedTo.${event.chargedFrom}`)} />;
    case 'reclaimed':
      return <Line text={t('timeline.reclaimedText')} />;
    default:
      return null;
  }
}

/** The id of the request that created the send, as in the response's `X-Request-Id` and the log lines. */
function Request({ id }: { id: string }) {
  const { t } = useTranslation('sends');
  return (
    <Group gap={6}>
      <Line text={t('timeline.request')} />
      <Id id={id} what={t('timeline.request')} />
    </Group>
  );
}

const CREATED = { free_quota: 'createdFree', credit: 'createdCredit', none: 'createdTest' } as const;

function AttemptBody({ event, withExplanation }: { event: Attempt; withExplanation: boolean }) {
  const { t } = useTranslation('sends');
  const { seconds: durationText } = useDurations();
  const facts = [
    ...(event.sender === null
      ? []
      : [
          t(event.isOwnSender ? 'timeline.attemptFromOwn' : 'timeline.attemptFrom', { sender: event.sender }),
        ]),
    ...(event.seconds === null ? [] : [durationText(event.seconds)]),
  ];
  return (
    <>
      {facts.length > 0 && <Line text={facts.join(' · ')} />}
      {event.messageStatus !== null && <Line text={t(`timeline.messageStatus.${event.messageStatus}`)} />}
      <Reason event={event} withExplanation={withExplanation} />
    </>
  );
}

/** The provider's error code and its explanation. */
function Reason({
  event: { errorCode, explanation },
  withExplanation,
}: {
  event: Attempt | Receipt;
  withExplanation: boolean;
}) {
  const { t } = useTranslation('sends');
  return (
    <>
      {errorCode !== null && <Line text={t('timeline.code', { code: errorCode })} />}
      {withExplanation && explanation !== null && <Explanation explanation={explanation} />}
    </>
  );
}

function Line({ text }: { text: string }) {
  return <Text c="dimmed">{text}</Text>;
}

/** Why the provider refused, and the remedy, in the user's language. */
export function Explanation({
  explanation,
  withRemedy = true,
}: {
  explanation: ExplanationView;
  withRemedy?: boolean;
}) {
  const { t } = useTranslation('sends');
  const errorText = useErrorText();
  const action = explanation.remedy === null ? t('timeline.ours') : errorText('remedy', explanation);
  return (
    <Text mt={4}>
      {errorText('meaning', explanation)} {withRemedy && action}
    </Text>
  );
}
