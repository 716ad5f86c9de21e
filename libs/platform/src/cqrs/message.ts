import type { Command as NestCommand, Query as NestQuery } from '@nestjs/cqrs';

/**
 * The base classes of commands and queries. Importing those of `@nestjs/cqrs` loads the whole framework. Contracts
 * avoid that cost, because the operator's commands and their `--help` load many of them.
 *
 * Both of the framework's classes are empty: their only member is the type of the result. The buses find a handler by
 * the metadata that `@CommandHandler` and `@QueryHandler` put on the message's own class. So an empty class with
 * the framework's type does the same.
 */
export const Command = class {} as typeof NestCommand;
export type Command<Result> = NestCommand<Result>;

export const Query = class {} as typeof NestQuery;
export type Query<Result> = NestQuery<Result>;
