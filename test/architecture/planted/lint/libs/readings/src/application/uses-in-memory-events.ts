// caught by: eslint(no-restricted-imports): EventBus
// caught by: eslint(no-restricted-imports): EventPublisher
// caught by: eslint(no-restricted-imports): EventsHandler
// caught by: eslint(no-restricted-imports): AggregateRoot
// caught by: eslint(no-restricted-imports): Saga
// caught by: eslint(no-restricted-imports): ofType
export { CommandBus, QueryBus } from '@nestjs/cqrs';
export { EventBus } from '@nestjs/cqrs';
export { EventPublisher } from '@nestjs/cqrs';
export { EventsHandler } from '@nestjs/cqrs';
export { AggregateRoot } from '@nestjs/cqrs';
export { Saga } from '@nestjs/cqrs';
export { ofType } from '@nestjs/cqrs';
