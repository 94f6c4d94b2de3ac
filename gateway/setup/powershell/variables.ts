/** The account's environment variables, which programs read when they start. */
export const variables = String.raw`
function want_variable($name, $value) {
  $setup.variables.Add(@{ name = $name; value = $value.Replace('{{GATEWAY_API_KEY}}', $setup.key) })
}
function drop_variable($name) { $setup.variables.Add(@{ name = $name; value = $null }) }
function changed_variables {
  foreach ($variable in $setup.variables) {
    $variable.before = [Environment]::GetEnvironmentVariable($variable.name, 'User')
    $is_same = $null -eq $variable.before -and $null -eq $variable.value
    if ($null -ne $variable.before -and $null -ne $variable.value) { $is_same = same_text $variable.before $variable.value }
    if (-not $is_same) { Write-Output $variable }
  }
}
# A null that PowerShell does not convert to an empty string, which some .NET versions reject.
function set_variable($name, $value) {
  if ($null -eq $value) { $value = [NullString]::Value }
  [Environment]::SetEnvironmentVariable($name, $value, 'User')
}`;
