// caught by: no-restricted-imports: EventBus
export { EventBus } from '@nestjs/cqrs';
