// caught by: no-restricted-imports: AggregateRoot
export { AggregateRoot } from '@nestjs/cqrs';
