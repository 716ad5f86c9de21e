// caught by: eslint(no-restricted-imports): EventBus
export { EventBus } from '@nestjs/cqrs';
