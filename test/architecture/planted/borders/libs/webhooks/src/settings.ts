// caught by: manifest-is-light
import { Injectable } from '@nestjs/common';

export const settings = { Injectable };
