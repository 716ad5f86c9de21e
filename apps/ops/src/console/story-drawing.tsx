import { PUBLIC_EVENT_TYPES, publicEventId, type DeliveryOfReading } from '#webhooks/contracts/index.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { kindOf, type Chapter } from '../commands/events/story.js';

const LANE = 96;
const ROW = 30;
const HEAD = 34;
const LABEL = 300;

/** A dot of the drawing, joined with the dot that caused it. */
interface Dot {
  readonly lane: string;
  readonly label: string;
  /** Of the event; `null`: nothing is caused by it. */
  readonly id: string | null;
  readonly causedBy: string;
}

/** The event that a delivery tells of; none: a person has asked for the delivery, or it is not of this story. */
export const causeOf = (
  story: readonly Chapter[],
  { eventId, eventType }: Pick<DeliveryOfReading, 'eventId' | 'eventType'>,
): Chapter | undefined => {
  const type = PUBLIC_EVENT_TYPES.find((one) => one === eventType);
  return type && story.find((chapter) => publicEventId(chapter, type) === eventId);
};

/** Who asked, the events below their kinds of stream, and at the end the deliveries. */
const dotsOf = (
  story: readonly Chapter[],
  deliveries: readonly DeliveryOfReading[],
  inWords: (status: string) => string,
): readonly Dot[] => [
  ...story.map(({ stream, type, afterMs, eventId, cause }) => ({
    lane: categoryOf(stream),
    label: `${type} +${afterMs} ms`,
    id: eventId,
    causedBy: cause.id,
  })),
  ...deliveries.map(({ eventType, status, eventId }) => ({
    lane: 'webhooks',
    label: `${eventType}: ${inWords(status)}`,
    id: null,
    causedBy: causeOf(story, { eventId, eventType })?.eventId ?? '',
  })),
];

/** A reading's story for the eye: time runs down. A table beside it has the same. @param label says what it shows */
export const StoryDrawing = ({
  label,
  story,
  deliveries,
  inWords,
}: {
  readonly label: string;
  readonly story: readonly Chapter[];
  readonly deliveries: readonly DeliveryOfReading[];
  /** Of the state of a delivery. */
  readonly inWords: (status: string) => string;
}) => {
  const dots = dotsOf(story, deliveries, inWords);
  const caller = kindOf(story[0]?.actor ?? '');
  const lanes = [...new Set([caller, ...dots.map(({ lane }) => lane)])];
  const x = (lane: string): number => lanes.indexOf(lane) * LANE + LANE / 2;
  const y = (row: number): number => HEAD + row * ROW + ROW / 2;
  const [width, height] = [lanes.length * LANE + LABEL, HEAD + dots.length * ROW];
  return (
    <div class="wide" role="region" aria-label={label} tabIndex={0}>
      <svg
        class="story"
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={label}
      >
        {lanes.map((lane) => (
          <g>
            <text x={x(lane)} y={HEAD / 2} text-anchor="middle">
              {lane}
            </text>
            <line class="axis" x1={x(lane)} x2={x(lane)} y1={HEAD - 8} y2={height} />
          </g>
        ))}
        {dots.map(({ lane, label: said, causedBy }, row) => {
          const cause = dots.findIndex(({ id }) => id !== null && id === causedBy);
          const from = cause === -1 ? { x: x(caller), y: y(row) } : { x: x(dots[cause]!.lane), y: y(cause) };
          const turn = y(row) - ROW / 2;
          const way = cause === -1 ? '' : `V ${Math.max(turn, from.y)}`;
          return (
            <g>
              <path class="arrow" d={`M ${from.x} ${from.y} ${way} L ${x(lane)} ${y(row)}`} />
              <circle cx={x(lane)} cy={y(row)} r={5} />
              <text x={lanes.length * LANE} y={y(row) + 4}>
                {said}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
};
