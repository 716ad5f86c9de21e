/** A reading that was erased after the backup, or before another one. */
export interface ErasedReading {
  readonly readingId: string;
  readonly workspaceId: string;
}

const READING_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether the service could have given this id to a reading. PostgreSQL takes no others. */
export const isReadingId = (text: string): boolean => READING_ID.test(text);
