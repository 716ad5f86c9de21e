/** Orders a reading with the client that @hey-api/openapi-ts generated, and reads what the zod schemas then accept. */
import assert from 'node:assert/strict';
import { client } from './generated/hey-api/client.gen';
import { createReading, getReading, getReadingDocument, getReadingResult } from './generated/hey-api';
import { schemas } from './generated/zod/client';

client.setConfig({
  baseUrl: process.env['BASE_URL'] ?? '',
  headers: { 'x-api-key': process.env['API_KEY'] ?? '' },
});

const { data: accepted, error } = await createReading({
  headers: { 'Idempotency-Key': 'generated-1' },
  body: {
    productId: 'theme',
    profileId: 'evan',
    locale: 'en-US',
    name: { firstNames: ['Ada'], middleNames: ['May'], lastNames: ['Example'] },
    dateOfBirth: '1990-04-12',
    grammaticalProfile: { subjectGender: 'feminine' },
  },
});
assert(accepted, JSON.stringify(error));
assert.equal(accepted.status, 'queued');
const path = { readingId: accepted.readingId };

let reading = accepted;
for (let look = 0; look < 10 && reading.status !== 'completed'; look += 1) {
  const { data } = await getReading({ path, headers: { Prefer: 'wait=10' } });
  assert(data);
  reading = data;
}
assert.equal(reading.status, 'completed');
schemas.Reading.parse(reading);

const { data: result } = await getReadingResult({ path });
assert(result);
assert.equal(schemas.result.parse(result).numbers.lifePath.value, result.numbers.lifePath.value);

const { data: document } = await getReadingDocument({ path, query: { format: 'document_v1' } });
schemas.document_v1.parse(document);

const { error: refusal } = await getReading({ path: { readingId: '00000000-0000-4000-8000-000000000000' } });
assert.equal(refusal?.code, 'reading_not_found');
