// caught by: eslint(no-restricted-imports): AggregateRoot
export { AggregateRoot } from '@nestjs/cqrs';
