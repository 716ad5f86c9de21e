import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ProtobufFields } from './protobuf-fields.js';
import { ProtobufWriter } from './protobuf-writer.js';

const UINT64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const FIELD = fc.integer({ min: 1, max: 300 });

it('What is written is read again, whatever size was expected', () => {
  const numbers = fc.record({ field: FIELD, value: UINT64 });
  const texts = fc.record({ field: FIELD, value: fc.string({ unit: 'grapheme', maxLength: 300 }) });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 64 }), numbers, texts, FIELD, (size, number, text, outer) => {
      const writer = new ProtobufWriter(size);
      writer.text(text.field, text.value);
      writer.message(outer, () => {
        writer.message(text.field);
        writer.varint(number.field, number.value);
        writer.text(text.field, text.value);
      });
      const fields = new ProtobufFields(writer.done());
      expect([fields.next(), fields.field]).toEqual([true, outer]);
      const inner = fields.inner();
      expect([inner.next(), inner.field, inner.text()]).toEqual([true, text.field, text.value]);
      expect([inner.next(), inner.field, inner.uint64()]).toEqual([true, number.field, number.value]);
      expect([inner.next(), inner.field, inner.text(), inner.next()]).toEqual([true, text.field, '', false]);
      expect([fields.next(), fields.text(), fields.next()]).toEqual([true, text.value, false]);
    }),
  );
});

it.each([0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 35 - 1, 2 ** 46, Number.MAX_SAFE_INTEGER])(
  'The number %d has the same bytes as the bigint',
  (value) => {
    const [small, large] = [new ProtobufWriter(16), new ProtobufWriter(16)];
    small.varint(1, value);
    large.varint(1, BigInt(value));
    expect(small.done()).toEqual(large.done());
    const fields = new ProtobufFields(small.done());
    expect([fields.next(), fields.uint64()]).toEqual([true, BigInt(value)]);
  },
);
