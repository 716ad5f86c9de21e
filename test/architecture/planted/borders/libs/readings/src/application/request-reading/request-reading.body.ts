import { IsString } from 'class-validator';

export class ReadingBody {
  @IsString()
  readonly locale!: string;
}
