import 'reflect-metadata';

export type { CommandBus, ICommandHandler, IQueryHandler, QueryBus } from '@nestjs/cqrs';

/**
 * For handlers that send commands: `@Inject(COMMAND_BUS) commands: CommandBus`. The class itself cannot be the token,
 * because importing it loads the whole framework.
 */
export const COMMAND_BUS = Symbol('CommandBus');

/** The same for handlers that ask another module. */
export const QUERY_BUS = Symbol('QueryBus');

/** The class of a command or query. */
export type Message = abstract new (...args: never[]) => object;

/** The framework needs an id for each message. Random ones would shift every later random value of a test. */
let messages = 0;

/**
 * Marks a class with the message that it handles, as the framework's decorator does: the keys and shapes are those of
 * `@nestjs/cqrs`, whose package offers no file of its own for them (`handler.spec.ts` compares the two).
 */
const handles =
  (messageKey: string, handlerKey: string) =>
  (message: Message): ClassDecorator =>
  (handler) => {
    if (!Reflect.hasOwnMetadata(messageKey, message))
      Reflect.defineMetadata(messageKey, { id: `message-${(messages += 1)}` }, message);
    Reflect.defineMetadata(handlerKey, message, handler);
  };

const COMMAND_HANDLER = '__commandHandler__';
const QUERY_HANDLER = '__queryHandler__';

/** The decorated class handles this command. */
export const CommandHandler = handles('__command__', COMMAND_HANDLER);

/** The decorated class handles this query. */
export const QueryHandler = handles('__query__', QUERY_HANDLER);

/** The message that a class handles; `undefined` when it is no handler. */
export const handledBy = (handler: object): Message | undefined =>
  (Reflect.getMetadata(COMMAND_HANDLER, handler) ?? Reflect.getMetadata(QUERY_HANDLER, handler)) as
    | Message
    | undefined;
