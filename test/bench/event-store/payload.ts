/** Data of a measured event: 300 bytes of JSON. */
export const DATA = { text: 'x'.repeat(289) };

export const PAYLOAD = Buffer.from(JSON.stringify(DATA));
