/** What the path of a reading's routes names. */
export const NAMED_READING = {
  description: 'The `readingId` from the response to its creation',
  example: '7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41',
};

/** Seconds a caller should wait before it looks for a document that is being made. */
export const POLL_AFTER = '2';
