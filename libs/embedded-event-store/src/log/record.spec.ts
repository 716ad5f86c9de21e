import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DamagedDataError } from './environment.js';
import { encodeRecord, StoredRecord, type Placement, type ProposedEvent } from './record.js';

const text = fc.string({ unit: 'grapheme', maxLength: 60 });
const events: fc.Arbitrary<ProposedEvent> = fc.record({
  id: fc.uuid(),
  type: text,
  contentType: fc.constantFrom('application/json', 'application/octet-stream'),
  data: fc.uint8Array({ maxLength: 400 }),
  metadata: fc.uint8Array({ maxLength: 400 }),
});
const placements: fc.Arbitrary<Placement> = fc.record({
  stream: text.filter((name) => name.length > 0),
  revision: fc.bigInt(0n, 2n ** 63n - 1n),
  position: fc.bigInt(0n, 2n ** 63n - 1n),
  createdAt: fc.integer({ min: 0, max: 8.64e15 }),
});

describe('a stored record', () => {
  it('contains the message that the generated stubs decode, and returns its parts without decoding it', () => {
    fc.assert(
      fc.property(events, placements, (event, placement) => {
        const record = StoredRecord.from(encodeRecord(event, placement), placement.position);
        const response = streamsPb.ReadResp.deserializeBinary(record.message);
        const resolved = response.getEvent();
        const decoded = resolved?.getEvent();
        const metadata = decoded?.getMetadataMap();
        expect(Buffer.from(decoded?.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()).toBe(
          placement.stream,
        );
        expect(decoded?.getStreamRevision()).toBe(String(placement.revision));
        expect(decoded?.getCommitPosition()).toBe(String(placement.position));
        expect(decoded?.getPreparePosition()).toBe(String(placement.position));
        expect(resolved?.getCommitPosition()).toBe(String(placement.position));
        expect(metadata?.get('type')).toBe(event.type);
        expect(metadata?.get('content-type')).toBe(event.contentType);
        expect(metadata?.get('created')).toBe(String(BigInt(placement.createdAt) * 10_000n));
        expect(Buffer.from(decoded?.getData_asU8() ?? [])).toEqual(Buffer.from(event.data));
        expect(Buffer.from(decoded?.getCustomMetadata_asU8() ?? [])).toEqual(Buffer.from(event.metadata));
        expect(decoded?.getId()?.getString()).toBe(event.id);
        expect([record.id, record.type, record.stream]).toEqual([event.id, event.type, placement.stream]);
        expect([record.revision, record.createdAt]).toEqual([placement.revision, placement.createdAt]);
      }),
    );
  });

  it('is refused when any byte has changed or when it is at another position', () => {
    fc.assert(
      fc.property(
        events,
        placements,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (event, placement, at, flip) => {
          const bytes = encodeRecord(event, placement);
          expect(() => StoredRecord.from(bytes, placement.position + 1n)).toThrow(DamagedDataError);
          const index = at % bytes.length;
          bytes[index] = (bytes[index] ?? 0) ^ flip;
          expect(() => StoredRecord.from(bytes, placement.position)).toThrow(DamagedDataError);
        },
      ),
    );
  });
});
