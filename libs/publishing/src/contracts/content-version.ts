/** Version of the prose (`<year>.<month>.<counter>`), stored with each reading and printed in each document. */
export const CONTENT_VERSION = '2026.11.10';
