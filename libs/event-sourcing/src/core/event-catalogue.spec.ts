import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  byWorkspace,
  CorruptEvent,
  decode,
  decodeAny,
  encode,
  event,
  eventCatalogue,
  selectEvents,
  decodeOrShow,
  requireWorkspace,
} from './event-catalogue.js';
import type { StoredEvent } from './event.js';

const people = eventCatalogue('person', {
  PersonNamed: event(3, z.object({ name: z.object({ first: z.string(), last: z.string() }), age: z.int() }), {
    1: (data) => ({ name: (data as { fullName: string }).fullName, age: 0 }),
    2: (data) => {
      const { name, age } = data as { name: string; age: number };
      const [first, last] = name.split(' ');
      return { name: { first, last }, age };
    },
  }),
  PersonMoved: event(2, z.object({ to: z.string() })),
});

const stored = (type: string, schemaVersion: number, data: unknown, stream = 'person-1'): StoredEvent => ({
  id: '1',
  stream,
  revision: 7n,
  position: 700n,
  type,
  data,
  metadata: {
    correlationId: 'c',
    causationId: 'c',
    workspaceId: 'ws_1',
    actor: 'system:spec',
    occurredAt: '2026-01-02T03:04:05.006Z',
    schemaVersion,
  },
});

const NOW = { name: { first: 'Ada', last: 'Byron' }, age: 0 };

describe('encode', () => {
  it('returns the version to record, and drops fields outside the schema', () => {
    expect(encode(people, 'PersonMoved', { to: 'Paris', because: 'work' })).toEqual({
      data: { to: 'Paris' },
      version: 2,
    });
  });

  it('throws on data that does not match, and on unknown types: bugs of the writer', () => {
    expect(() => encode(people, 'PersonMoved', { to: 1 })).toThrow(TypeError);
    expect(() => encode(people, 'PersonFlown', {})).toThrow(TypeError);
  });

  it.each(['Paris\u0000', '\ud800Paris'])('refuses %j, which no database can store, and says where', (to) => {
    expect(() => encode(people, 'PersonMoved', { to })).toThrow('no database keeps: to');
    const name = { first: 'Ada', last: to };
    expect(() => encode(people, 'PersonNamed', { ...NOW, name })).toThrow(/no database keeps: name\.last$/);
  });

  it('never repeats the value it refuses', () => {
    expect(() => encode(people, 'PersonNamed', { name: 'Lovelace', age: 'Byron' })).toThrow(
      expect.objectContaining({ message: expect.not.stringMatching(/Lovelace|Byron/) }),
    );
  });
});

describe('decode', () => {
  it('upcasts every older version to the current one, step by step', () => {
    expect(decode(people, stored('PersonNamed', 1, { fullName: 'Ada Byron' })).data).toEqual(NOW);
    expect(decode(people, stored('PersonNamed', 2, { name: 'Ada Byron', age: 0 })).data).toEqual(NOW);
    expect(decode(people, stored('PersonNamed', 3, NOW)).data).toEqual(NOW);
  });

  it.each([
    ['an unknown type', stored('PersonFlown', 1, {}), /not an event of category person/],
    ['a version written by a newer program', stored('PersonNamed', 4, NOW), /newer/],
    ['no version', stored('PersonNamed', 0, {}), /its metadata has no schema version/],
    [
      'a version whose upcaster is missing',
      stored('PersonMoved', 1, { to: 'Paris' }),
      /no upcaster from version 1/,
    ],
    ['data that does not match', stored('PersonMoved', 2, { to: 5 }), /to: invalid_type/],
    ['data that is missing', stored('PersonMoved', 2, undefined), /data: invalid_type/],
  ])('refuses %s and says where it is', (_, corrupt, reason) => {
    expect(() => decode(people, corrupt)).toThrow(CorruptEvent);
    expect(() => decode(people, corrupt)).toThrow(reason);
    expect(() => decode(people, corrupt)).toThrow(`person-1@7 (${corrupt.type})`);
  });

  it('never repeats the values of a corrupt event', () => {
    const corrupt = stored('PersonNamed', 3, { name: { first: 'Augusta', last: 1815 }, age: 'Lovelace' });
    expect(() => decode(people, corrupt)).toThrow(
      expect.objectContaining({ message: expect.not.stringMatching(/Augusta|1815|Lovelace/) }),
    );
  });
});

describe('decodeAny', () => {
  const towns = eventCatalogue('town', { TownFounded: event(1, z.object({ name: z.string() })) });

  it('decodes with the catalogue of the event’s own category', () => {
    expect(decodeAny([people, towns], stored('TownFounded', 1, { name: 'Rome' }, 'town-1'))?.data).toEqual({
      name: 'Rome',
    });
  });

  it('ignores categories that the reader does not follow, and types that it did not select', () => {
    expect(decodeAny([people], stored('TownFounded', 1, { name: 'Rome' }, 'town-1'))).toBeNull();
    const named = selectEvents(people, 'PersonNamed');
    expect(decodeAny([named, towns], stored('TownFounded', 1, { name: 'Rome' }, 'person-1'))).toBeNull();
    expect(decodeAny([named], stored('PersonFlown', 1, {}))).toBeNull();
  });

  it('refuses a type that a whole catalogue does not know, also one that every object has', () => {
    for (const type of ['PersonFlown', 'constructor'])
      expect(() => decodeAny([people], stored(type, 1, {}))).toThrow(CorruptEvent);
  });

  it('passes over an event that is set aside for every reader', () => {
    const setAside = { consumers: null, by: 'operator:ada', reason: 'r', at: '' };
    const flown = { ...stored('PersonFlown', 1, {}), setAside };
    expect(decodeAny([people], flown)).toBeNull();
    expect(() => decodeAny([people], { ...flown, setAside: { ...setAside, consumers: ['a'] } })).toThrow(
      CorruptEvent,
    );
  });
});

describe('decodeOrShow', () => {
  it('gives what does not decode as an opaque event, with the reason', () => {
    const flown = stored('PersonFlown', 1, {});
    expect(decodeOrShow(people, flown)).toEqual({
      opaque: true,
      stored: flown,
      problem: 'not an event of category person',
      setAside: null,
    });
  });
});

it('An upcaster that fails on the data makes the event corrupt', () => {
  const upcaster = (data: unknown) => ({ a: (data as { deep: { a: number } }).deep.a });
  const catalogue = eventCatalogue('person', { Old: event(2, z.object({ a: z.number() }), { 1: upcaster }) });
  expect(() => decode(catalogue, stored('Old', 1, {}))).toThrow(CorruptEvent);
});

describe('an event of another workspace', () => {
  const named = event(1, z.object({ workspaceId: z.string() }));
  const of = (workspaceId: string, data: object, stream = 'book-ws_1') => {
    const one = { ...stored('Opened', 1, data), stream };
    return { ...one, metadata: { ...one.metadata, workspaceId } };
  };

  it('is corrupt in a stream that has the id of a workspace', () => {
    const books = eventCatalogue(byWorkspace('book'), { Opened: named, Filled: event(1, z.object({})) });
    const selected = selectEvents(books, 'Opened');
    expect(decode(books, of('ws_1', { workspaceId: 'ws_1' })).type).toBe('Opened');
    expect(decode(books, of('', { workspaceId: 'ws_1' })).type).toBe('Opened');
    for (const catalogue of [books, selected]) {
      expect(() => decode(catalogue, of('ws_2', { workspaceId: 'ws_2' }))).toThrow(/another workspace/);
      expect(() => decode(catalogue, of('ws_1', { workspaceId: 'ws_2' }))).toThrow(/another workspace/);
    }
    expect(() => decode(books, { ...of('ws_2', {}), type: 'Filled' })).toThrow(/another workspace/);
  });

  it('is corrupt when its data and its metadata disagree', () => {
    const things = eventCatalogue('thing', { Opened: named });
    expect(decode(things, of('ws_2', { workspaceId: 'ws_2' }, 'thing-7')).type).toBe('Opened');
    expect(() => decode(things, of('ws_1', { workspaceId: 'ws_2' }, 'thing-7'))).toThrow(/another workspace/);
  });

  it('does not change the row, or the stream, of a workspace', () => {
    const foreign = of('ws_2', { workspaceId: 'ws_2' }, 'thing-7');
    expect(() => requireWorkspace(foreign, 'ws_1')).toThrow(CorruptEvent);
    for (const owner of ['ws_2', '', null]) expect(() => requireWorkspace(foreign, owner)).not.toThrow();
  });
});
