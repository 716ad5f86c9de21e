import type * as cqrs from '@nestjs/cqrs';

/**
 * The base classes of commands and queries. Importing those of `@nestjs/cqrs` loads the whole framework, which
 * contracts must not cost: the operator's commands and their `--help` load many of them.
 *
 * Both of the framework's classes are empty: their only member is the type of the result. The buses find a handler by
 * the metadata that `@CommandHandler` and `@QueryHandler` put on the message's own class. So an empty class of ours
 * with the framework's type is the same thing.
 */
export const Command = class {} as typeof cqrs.Command;
export type Command<Result> = cqrs.Command<Result>;

export const Query = class {} as typeof cqrs.Query;
export type Query<Result> = cqrs.Query<Result>;
