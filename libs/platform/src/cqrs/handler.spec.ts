import { describe, expect, it } from '@jest/globals';
import { CommandHandler as NestCommandHandler, QueryHandler as NestQueryHandler } from '@nestjs/cqrs';
import { CommandHandler, QueryHandler, handledBy } from './handler.js';
import { Command, Query } from './message.js';

/** All metadata that a decorator leaves on a message and its handler. */
const metadataOf = (decorate: (message: never) => ClassDecorator, Base: new () => object) => {
  const Message = class extends Base {};
  class Handler {}
  decorate(Message as never)(Handler);
  const all = (target: object) =>
    Reflect.getOwnMetadataKeys(target).map((key) => [key, Reflect.getOwnMetadata(key, target) as unknown]);
  return { Message, Handler, onMessage: all(Message), onHandler: all(Handler) };
};

describe('the decorators of handlers', () => {
  it.each([
    ['CommandHandler', CommandHandler, NestCommandHandler, Command],
    ['QueryHandler', QueryHandler, NestQueryHandler, Query],
  ] as const)('%s leaves the metadata that the framework reads', (_, ours, theirs, Base) => {
    const mine = metadataOf(ours, Base);
    const nest = metadataOf(theirs, Base);
    expect(mine.onMessage).toEqual(nest.onMessage.map(([key]) => [key, { id: expect.any(String) }]));
    expect(mine.onHandler).toEqual(nest.onHandler.map(([key]) => [key, mine.Message]));
    expect(mine.onHandler).toHaveLength(1);
    expect(handledBy(mine.Handler)).toBe(mine.Message);
  });
});
