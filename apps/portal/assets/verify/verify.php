<?php

function is_genuine(string $raw_body, ?string $header, string $secret, ?int $now = null): bool
{
    $fields = array_map(fn ($field) => explode('=', $field, 2) + [1 => ''], explode(',', $header ?? ''));
    $times = array_filter($fields, fn ($field) => $field[0] === 't');
    $timestamp = array_values($times)[0][1] ?? '';
    if ($secret === '' || !preg_match('/^[0-9]{1,12}$/D', $timestamp) || abs(($now ?? time()) - (int) $timestamp) > 300) {
        return false;
    }
    $expected = hash_hmac('sha256', "$timestamp.$raw_body", $secret);
    foreach ($fields as [$name, $value]) {
        if ($name === 'v1' && hash_equals($expected, $value)) {
            return true;
        }
    }
    return false;
}
