import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import { IsArray, IsDefined, IsIn, IsObject, IsString, ValidateNested, isObject } from 'class-validator';
import {
  GENDER_SPELLINGS,
  MAX_ELEMENTS,
  canonicalGender,
  checkDateOfBirth,
  checkName,
  type Locale,
} from '#numerology/index.js';
import { IfSentAndNotNull, required, stringType } from '#platform/http/body-rules.js';
import type { FieldError } from '#platform/http/problem.js';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import { toPointer } from '#platform/http/strict-json.js';
import type { ReadingInput } from '../../domain/reading/reading-view.js';
import {
  LONGEST_EXTERNAL_ID,
  LONGEST_METADATA_KEY,
  LONGEST_METADATA_VALUE,
  MOST_METADATA_PAIRS,
  externalIdFault,
  metadataErrors,
} from '../../http/reference-rules.js';

const array = { message: 'must be an array of strings', context: { code: 'invalid_type' } };
const object = { message: 'must be an object', context: { code: 'invalid_type' } };

const NAME = {
  type: 'array',
  maxItems: 8,
  items: { type: 'string', minLength: 1, maxLength: 100 },
} as const;

/** The rules of names: libs/numerology. At most 300 letters in all. */
@ApiSchema({ name: 'Name' })
export class NameDto {
  @ApiProperty({ ...NAME, minItems: 1, description: 'Given names', examples: [['Zoé']] })
  @IsDefined(required)
  @IsArray(array)
  firstNames!: string[];

  @ApiProperty({ ...NAME, description: 'Middle names; may be empty', examples: [['Marie']] })
  @IsDefined(required)
  @IsArray(array)
  middleNames!: string[];

  @ApiProperty({ ...NAME, minItems: 1, description: 'Family names at birth', examples: [['Lefèvre']] })
  @IsDefined(required)
  @IsArray(array)
  lastNames!: string[];
}

@ApiSchema({ name: 'GrammaticalProfile' })
export class GrammaticalProfileDto {
  @ApiProperty({
    description: `Governs grammatical agreement alone. One of ${Object.values(GENDER_SPELLINGS).flat().join(', ')}; letter case does not matter`,
    examples: ['feminine'],
  })
  @IsDefined(required)
  @IsString({ message: 'must be a string', context: { code: 'invalid_type' } })
  subjectGender!: string;
}

/** Body of POST /api/v1/readings. The shape is declared here; the rules of names and dates are the calculation's own. */
@ApiSchema({ name: 'CreateReading' })
export class CreateReadingDto implements SelfChecking {
  @ApiProperty({ enum: ['theme'], description: 'What to compute: a numerology theme', examples: ['theme'] })
  @IsDefined(required)
  @IsIn(['theme'], { message: 'must be theme', context: { code: 'unknown_product' } })
  productId!: string;

  @ApiProperty({ enum: ['evan'], description: 'The rules of the calculation', examples: ['evan'] })
  @IsDefined(required)
  @IsIn(['evan'], { message: 'must be evan', context: { code: 'unknown_profile' } })
  profileId!: string;

  @ApiProperty({ enum: ['fr-FR', 'en-US'], description: 'Language of the texts', examples: ['fr-FR'] })
  @IsDefined(required)
  @IsIn(['fr-FR', 'en-US'], {
    message: 'must be one of fr-FR, en-US',
    context: { code: 'unsupported_locale' },
  })
  locale!: Locale;

  @ApiProperty({ description: 'The name at birth, as it was given' })
  @IsDefined(required)
  @IsObject(object)
  @ValidateNested()
  @Type(() => NameDto)
  name!: NameDto;

  @ApiProperty({
    description: 'A real day from 1583-01-01 to today',
    format: 'date',
    pattern: String.raw`^\d{4}-\d{2}-\d{2}$`,
    examples: ['1990-04-12'],
  })
  @IsDefined(required)
  @IsString({ message: 'must be a calendar date YYYY-MM-DD', context: { code: 'invalid_date' } })
  dateOfBirth!: string;

  @ApiProperty({ description: 'How texts speak of the person' })
  @IsDefined(required)
  @IsObject(object)
  @ValidateNested()
  @Type(() => GrammaticalProfileDto)
  grammaticalProfile!: GrammaticalProfileDto;

  @ApiPropertyOptional({
    type: 'string',
    nullable: true,
    minLength: 1,
    maxLength: LONGEST_EXTERNAL_ID,
    description:
      'Your own id for the reading, such as an order number: printable characters. Lists find it. It is sealed and erased with the reading',
    examples: ['order-4711'],
  })
  @IfSentAndNotNull()
  @IsString(stringType)
  externalId?: string | null;

  @ApiPropertyOptional({
    type: 'object',
    nullable: true,
    maxProperties: MOST_METADATA_PAIRS,
    additionalProperties: { type: 'string', maxLength: LONGEST_METADATA_VALUE },
    description: `Your own notes on the reading: keys of 1 to ${LONGEST_METADATA_KEY} printable characters, at most 4 KiB in all. They are sealed and erased with the reading`,
    examples: [{ shop: 'paris', gift: 'yes' }],
  })
  @IfSentAndNotNull()
  @IsObject({ message: 'must be an object or null', context: { code: 'invalid_type' } })
  // Taken as it is: the mapping would drop keys such as `toString`.
  @Transform(({ obj }: { obj: { metadata?: unknown } }) => obj.metadata)
  metadata?: Readonly<Record<string, string>> | null;

  /** @param now milliseconds since the epoch */
  fieldErrors(sound: (property: string) => boolean, now: number): FieldError[] {
    const errors: FieldError[] = [];
    if (isObject(this.name)) errors.push(...nameErrors(this.name));
    const dateProblem = sound('dateOfBirth') ? checkDateOfBirth(this.dateOfBirth, earliestToday(now)) : null;
    if (dateProblem)
      errors.push({ pointer: '/dateOfBirth', code: dateProblem.code, detail: dateProblem.detail });
    if (sound('grammaticalProfile') && canonicalGender(this.grammaticalProfile.subjectGender) === null) {
      errors.push({
        pointer: toPointer(['grammaticalProfile', 'subjectGender']),
        code: 'invalid_value',
        detail: `must be one of ${Object.values(GENDER_SPELLINGS).flat().join(', ')}`,
      });
    }
    const { externalId, metadata } = this;
    const fault = typeof externalId === 'string' ? externalIdFault(externalId) : null;
    if (fault) errors.push({ pointer: '/externalId', ...fault });
    if (metadata && sound('metadata')) errors.push(...metadataErrors(metadata));
    return errors;
  }
}

const NAME_PARTS = ['firstNames', 'middleNames', 'lastNames'] as const;

/** In the place of what is no string: it breaks no rule of names. */
const SOUND = 'A';

/** Points at each part that is no string, and at what breaks the rules of names in the others. */
const nameErrors = (name: NameDto): FieldError[] => {
  const errors: FieldError[] = [];
  const partsOf = (list: (typeof NAME_PARTS)[number]): string[] => {
    const parts: unknown = name[list];
    // The shape of the list itself is checked before.
    if (!Array.isArray(parts)) return [SOUND];
    // One more than there may be, so that the list is found too long.
    return parts.slice(0, MAX_ELEMENTS + 1).map((part: unknown, place) => {
      if (typeof part === 'string') return part;
      errors.push({
        pointer: toPointer(['name', list, place]),
        code: 'invalid_type',
        detail: 'must be a string',
      });
      return SOUND;
    });
  };
  const [firstNames = [], middleNames = [], lastNames = []] = NAME_PARTS.map(partsOf);
  for (const { pointer, code, detail } of checkName({ firstNames, middleNames, lastNames }))
    errors.push({ pointer: `/name${pointer}`, code, detail });
  return errors;
};

/** What is sealed of a request: all that it says about the person, and the caller's references. */
export const inputOf = (body: CreateReadingDto): ReadingInput => {
  const { dateOfBirth, grammaticalProfile, externalId, metadata } = body;
  const { firstNames, middleNames, lastNames } = body.name;
  return {
    name: { firstNames, middleNames, lastNames },
    dateOfBirth,
    grammaticalProfile: { subjectGender: grammaticalProfile.subjectGender },
    ...(typeof externalId === 'string' && { externalId }),
    ...(metadata && { metadata }),
  };
};

const FOURTEEN_HOURS_MS = 14 * 3_600_000;

/** Today's date where it begins first (UTC+14): nobody is born after it. */
const earliestToday = (now: number): string => new Date(now + FOURTEEN_HOURS_MS).toISOString().slice(0, 10);
