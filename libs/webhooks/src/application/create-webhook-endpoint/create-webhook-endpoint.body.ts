import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsArray, IsDefined, IsNumber, IsObject, IsString } from 'class-validator';
import { IfSent, IfSentAndNotNull, required, stringType } from '#platform/http/body-rules.js';
import type { Mode } from '#event-sourcing/core/mode.js';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import type { FieldError } from '#platform/http/problem.js';
import type { PublicEventType } from '../../contracts/event-types.js';
import type { NoticeType } from '../../contracts/notice-types.js';
import {
  DESCRIPTION_SHOWN,
  EVENTS_SHOWN,
  HEADERS_SHOWN,
  MAX_PER_SECOND_SHOWN,
  MODES_SHOWN,
  NOTICES_SHOWN,
  URL_SHOWN,
  arrayType,
  headersType,
  maxPerSecondType,
  modesType,
  noticesType,
  settingErrors,
  urlType,
} from '../../http/endpoint-settings.js';

/** Body of POST /api/v1/webhooks. */
@ApiSchema({ name: 'CreateWebhookEndpoint' })
export class CreateWebhookEndpointDto implements SelfChecking {
  @ApiProperty(URL_SHOWN)
  @IsDefined(required)
  @IsString(urlType)
  url!: string;

  /** Default: all event types. */
  @ApiPropertyOptional({ ...EVENTS_SHOWN, description: 'Default: all four' })
  @IfSent()
  @IsArray(arrayType)
  events?: PublicEventType[];

  @ApiPropertyOptional({
    ...MODES_SHOWN,
    description: 'Of the readings whose events it receives; default: `live`, for a test key `test`',
  })
  @IfSent()
  @IsArray(modesType)
  modes?: Mode[];

  @ApiPropertyOptional({ ...NOTICES_SHOWN, description: 'What it is told besides events; default: nothing' })
  @IfSent()
  @IsArray(noticesType)
  notices?: NoticeType[];

  @ApiPropertyOptional({ ...DESCRIPTION_SHOWN, description: 'For you: the service does not use it' })
  @IfSentAndNotNull()
  @IsString(stringType)
  description?: string | null;

  @ApiPropertyOptional({
    ...HEADERS_SHOWN,
    description:
      'Sent with each delivery, values by name: at most ten. Stored sealed and never shown again; reserved names are refused',
  })
  @IfSentAndNotNull()
  @IsObject(headersType)
  headers?: Record<string, string> | null;

  @ApiPropertyOptional({
    ...MAX_PER_SECOND_SHOWN,
    description: 'Deliveries sent in a second, at most; default: as fast as the endpoint answers',
  })
  @IfSentAndNotNull()
  @IsNumber({}, maxPerSecondType)
  maxPerSecond?: number | null;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return settingErrors(this, sound);
  }
}
