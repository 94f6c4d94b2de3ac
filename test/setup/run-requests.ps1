# Runs one request a line, and answers each with a line: what the script said, and the error that ended it.
$ErrorActionPreference = 'Stop'
class Account {
  static [hashtable] $variables = @{}
  static [string] $NewLine = [System.Environment]::NewLine
  static [object] GetEnvironmentVariable([string] $name) { return [System.Environment]::GetEnvironmentVariable($name) }
  static [object] GetEnvironmentVariable([string] $name, [string] $target) { return [Account]::variables[$name] }
  static [void] SetEnvironmentVariable([string] $name, [object] $value, [string] $target) {
    if ($value -is [string]) { [Account]::variables[$name] = $value } else { [Account]::variables.Remove($name) }
  }
}
# Only Windows has environment variables of an account.
[psobject].Assembly.GetType('System.Management.Automation.TypeAccelerators')::Add('Environment', [Account])

function run_script($request) {
  $said = [Collections.Generic.List[string]]::new()
  $thrown = $null
  [Account]::variables = $request.account
  foreach ($name in $request.environment.Keys) { Set-Item "Env:$name" $request.environment[$name] }
  try { & ([scriptblock]::Create($request.script)) *>&1 | ForEach-Object { $said.Add([string]$_) } }
  catch { $thrown = $_.Exception.Message }
  foreach ($name in $request.environment.Keys) { Remove-Item "Env:$name" -ErrorAction SilentlyContinue }
  return @{ said = $said; thrown = $thrown; account = [Account]::variables }
}

function read_script($request) {
  $tokens = $null
  $mistakes = $null
  $tree = [Management.Automation.Language.Parser]::ParseInput($request.read, [ref]$tokens, [ref]$mistakes)
  $functions, $commands, $written, $operators, $strings = 1..5 | ForEach-Object { , [Collections.Generic.List[string]]::new() }
  foreach ($node in $tree.FindAll({ $true }, $true)) {
    switch ($node.GetType().Name) {
      StringConstantExpressionAst { if ($node.StringConstantType -ceq 'SingleQuoted') { $strings.Add($node.Value) } }
      FunctionDefinitionAst { $functions.Add($node.Name) }
      CommandAst { if ($node.GetCommandName()) { $commands.Add($node.GetCommandName()) } }
      AssignmentStatementAst { if ($node.Left.VariablePath) { $written.Add($node.Left.VariablePath.UserPath) } }
      ForEachStatementAst { $written.Add($node.Variable.VariablePath.UserPath) }
      ParameterAst { $written.Add($node.Name.VariablePath.UserPath) }
      BinaryExpressionAst { $operators.Add($node.Operator) }
    }
  }
  return @{
    mistakes = @($mistakes.ForEach({ $_.Message }))
    statements = $tree.EndBlock.Statements.Count
    kinds = @($tokens.ForEach({ [string]$_.Kind }))
    functions = $functions
    commands = $commands
    written = $written
    operators = $operators
    strings = $strings
  }
}

while ($null -ne ($line = [Console]::In.ReadLine())) {
  $request = ConvertFrom-Json -AsHashtable $line
  $answer = if ($request.ContainsKey('read')) { read_script $request } else { run_script $request }
  [Console]::Out.WriteLine((ConvertTo-Json -Compress -Depth 4 -EscapeHandling EscapeNonAscii $answer))
}
