const PREFIX = 'clock:';

/** The reference of an entry that repairs what a wrong clock did. @param part when an event needs several entries */
export const repairReference = (eventId: string, part?: string): string =>
  part === undefined ? `${PREFIX}${eventId}` : `${PREFIX}${eventId}:${part}`;

/** The event that the entry with this reference repairs; `null`: it is no repair of dates. */
export const repairedEvent = (reference: string): string | null =>
  reference.startsWith(PREFIX) ? reference.slice(PREFIX.length).split(':')[0]! : null;
