import { IsString } from 'class-validator';

export class ReadingDto {
  @IsString()
  readonly locale!: string;
}
