import { describe, expect, it } from '@jest/globals';
import { plainSchemas } from './plain-schemas.js';

describe('The schemas of the OpenAPI document', () => {
  it('write a constant as an enumeration of one value, with its type', () => {
    expect(plainSchemas({ schema: { const: 'theme', description: 'What was ordered' } })).toEqual({
      schema: { type: 'string', enum: ['theme'], description: 'What was ordered' },
    });
    expect(plainSchemas({ schema: { const: 429 } })).toEqual({ schema: { type: 'integer', enum: [429] } });
    expect(plainSchemas({ schema: { const: 1.5 } })).toEqual({ schema: { type: 'number', enum: [1.5] } });
  });

  it('name the types of an enumeration that names none', () => {
    expect(plainSchemas({ enum: ['a', 'b'] })).toEqual({ type: 'string', enum: ['a', 'b'] });
    expect(plainSchemas({ enum: ['a', null] })).toEqual({ type: ['string', 'null'], enum: ['a', null] });
    expect(plainSchemas({ type: 'string', enum: ['a'] })).toEqual({ type: 'string', enum: ['a'] });
  });

  it('give each tuple `items`', () => {
    expect(plainSchemas({ type: 'array', prefixItems: [{ const: 11 }, { const: 22 }] })).toEqual({
      type: 'array',
      prefixItems: [
        { type: 'integer', enum: [11] },
        { type: 'integer', enum: [22] },
      ],
      items: {
        anyOf: [
          { type: 'integer', enum: [11] },
          { type: 'integer', enum: [22] },
        ],
      },
    });
  });

  it('keep values as they are, and properties that have the name of a keyword', () => {
    const values = { example: { const: 1 }, default: { enum: [1] }, examples: [{ const: 2 }] };
    expect(plainSchemas(values)).toEqual(values);
    const named = { properties: { const: { type: 'string' }, enum: { type: 'string' } } };
    expect(plainSchemas(named)).toEqual(named);
  });
});
