import { ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsNumber, IsObject, IsString } from 'class-validator';
import { IfSent, IfSentAndNotNull, booleanType, stringType } from '#platform/http/body-rules.js';
import type { Mode } from '#event-sourcing/core/mode.js';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import type { FieldError } from '#platform/http/problem.js';
import type { PublicEventType } from '../../contracts/event-types.js';
import type { NoticeType } from '../../contracts/notice-types.js';
import {
  DESCRIPTION_SHOWN,
  EVENTS_SHOWN,
  HEADERS_PATCH_SHOWN,
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

/** Body of PATCH /api/v1/webhooks/{endpointId}: a JSON Merge Patch (RFC 7396) of the members that can change. */
@ApiSchema({ name: 'ChangeWebhookEndpoint' })
export class ChangeWebhookEndpointDto implements SelfChecking {
  @ApiPropertyOptional(URL_SHOWN)
  @IfSent()
  @IsString(urlType)
  url?: string;

  @ApiPropertyOptional({ ...EVENTS_SHOWN, description: 'Replaces the whole choice' })
  @IfSent()
  @IsArray(arrayType)
  events?: PublicEventType[];

  @ApiPropertyOptional({ ...MODES_SHOWN, description: 'Replaces the whole choice' })
  @IfSent()
  @IsArray(modesType)
  modes?: Mode[];

  @ApiPropertyOptional({ ...NOTICES_SHOWN, description: 'Replaces the whole choice; `[]` ends it' })
  @IfSent()
  @IsArray(noticesType)
  notices?: NoticeType[];

  @ApiPropertyOptional({ description: 'Whether deliveries are sent', examples: [true] })
  @IfSent()
  @IsBoolean(booleanType)
  enabled?: boolean;

  /** `null` removes it. */
  @ApiPropertyOptional({ ...DESCRIPTION_SHOWN, description: 'null removes it' })
  @IfSentAndNotNull()
  @IsString(stringType)
  description?: string | null;

  @ApiPropertyOptional({
    ...HEADERS_PATCH_SHOWN,
    description:
      'Merged with the custom headers: null removes one, or all. Names each of them when they move to a URL of another scheme, host or port',
  })
  @IfSentAndNotNull()
  @IsObject(headersType)
  headers?: Record<string, string | null> | null;

  @ApiPropertyOptional({
    ...MAX_PER_SECOND_SHOWN,
    description: 'Deliveries sent in a second, at most; null ends the limit',
  })
  @IfSentAndNotNull()
  @IsNumber({}, maxPerSecondType)
  maxPerSecond?: number | null;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return settingErrors(this, sound, { isPatch: true });
  }
}
