import type { ProposedEvent } from '../log/record.js';

/** A link to append, with its target stream. */
export interface SystemLink {
  readonly stream: string;
  readonly event: ProposedEvent;
}

/**
 * Streams in which EventStoreDB's system projections link an event: `$ce-<category>` ($by_category: the part
 * before the first hyphen), `$et-<type>` ($by_event_type) and, for the first event of a stream, `$streams`.
 * System events are not linked.
 */
export const linkTargets = (stream: string, type: string, revision: bigint): string[] => {
  if (stream.startsWith('$') || type.startsWith('$')) return [];
  const hyphen = stream.indexOf('-');
  return [
    ...(hyphen > 0 ? [`$ce-${stream.slice(0, hyphen)}`] : []),
    `$et-${type}`,
    ...(revision === 0n ? ['$streams'] : []),
  ];
};

/** The links of one event; `newId` generates the id of each. */
export const systemLinks = (
  stream: string,
  event: ProposedEvent,
  revision: bigint,
  newId: () => string,
): SystemLink[] =>
  linkTargets(stream, event.type, revision).map((target) => ({
    stream: target,
    event: {
      id: newId(),
      type: '$>',
      contentType: 'application/octet-stream',
      data: Buffer.from(`${String(revision)}@${stream}`),
      metadata: Buffer.from(JSON.stringify({ $o: stream, $causedBy: event.id })),
    },
  }));
