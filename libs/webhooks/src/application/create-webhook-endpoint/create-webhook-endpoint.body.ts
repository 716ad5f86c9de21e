import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsArray, IsDefined, IsString } from 'class-validator';
import type { SelfChecking } from '@app/platform/http/body.pipe.js';
import type { FieldError } from '@app/platform/http/problem.js';
import type { PublicEventType } from '../../contracts/event-types.js';
import {
  DESCRIPTION_SHOWN,
  EVENTS_SHOWN,
  IfSent,
  IfSentAndNotNull,
  URL_SHOWN,
  arrayType,
  settingErrors,
  stringType,
  urlType,
} from '../../http/endpoint-settings.js';

const required = { message: 'is required', context: { code: 'required' } };

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

  @ApiPropertyOptional(DESCRIPTION_SHOWN)
  @IfSentAndNotNull()
  @IsString(stringType)
  description?: string | null;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return settingErrors(this, sound);
  }
}
