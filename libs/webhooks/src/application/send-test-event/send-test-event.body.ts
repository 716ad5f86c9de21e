import { ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { IfSent } from '#platform/http/body-rules.js';
import { PUBLIC_EVENT_TYPES, type PublicEventType } from '../../contracts/event-types.js';
import { oneOf } from '../../http/endpoint-settings.js';

/** Body of POST …/test. */
@ApiSchema({ name: 'SendTestEvent' })
export class SendTestEventDto {
  @ApiPropertyOptional({
    enum: PUBLIC_EVENT_TYPES,
    default: 'reading.completed',
    description: 'The type of the event to send',
    examples: ['reading.published'],
  })
  @IfSent()
  @IsIn(PUBLIC_EVENT_TYPES, oneOf)
  type: PublicEventType = 'reading.completed';
}
